"""The search itself, or the proposals of scripts in its place; the baselines before it."""

from __future__ import annotations

from searchspace.configuration import Configuration
from searchspace.job import BuiltSpace
from storage.records import OutlookPoint, Trial
from tuner.completed_share import CompletedShare
from tuner.objective import TrialResult, cutoff
from tuner.scripts import ProposedByScripts
from tuner.search import Point, Search
from tuner.source_weights import SourceWeights
from tuner.stages.course import Course
from tuner.stages.estimates import Estimates
from tuner.stages.stage import Asked, Stop, Wait

__all__ = ["Baselines", "EstimatedBaselines", "Proposed", "Searching"]


class Searching:
    """Baselines that were not asked yet, then one point of the space after the other.

    Args:
        course: Of the job.
        built: Its baselines.
        search: The search over its space, or what scripts propose.
        weights: Of the jobs that the search learns from, as stored.
        estimates: Where the trials are estimates, those so far; None where they are not.
    """

    def __init__(
        self,
        course: Course,
        built: BuiltSpace,
        search: Search | ProposedByScripts,
        weights: SourceWeights,
        estimates: Estimates | None = None,
    ) -> None:
        self.in_flight = course.spec.batch_size
        self._course = course
        self._baselines = built.baselines
        self._search = search
        self._weights = weights
        self._estimates = estimates
        self._exhausted = False
        share = course.spec.share_to_complete
        self._share = None if share is None else CompletedShare(share, course.spec.batch_size)

    def begin(self) -> None:
        """At once."""

    def end(self) -> Wait | None:
        """Why no trial may be asked now."""
        return self._course.end(exhausted=self._exhausted)

    def ask(self) -> Asked | None:
        """Have the next trial evaluated; None where the space is exhausted."""
        if self._course.number < len(self._baselines) and self._estimates is None:
            return self._ask_baseline()
        point = self._search.ask()
        if point is None:
            self._exhausted = True
            return None
        return self._ask_point(point)

    def _ask_baseline(self) -> Asked:
        label, configuration = self._baselines[self._course.number]
        inside = self._search.add(configuration)
        number = self._course.ask("baseline", configuration, inside=inside, label=label)
        return Asked(number, configuration, inside)

    def _ask_point(self, point: Point) -> Asked:
        course, configuration = self._course, point.configuration
        course.ledger.expect(self._search.probability)
        expected = self._search.expectation
        if expected is not None and course.spec.without_model is None:
            outlook = OutlookPoint(course.number + 1, expected.probability, expected.gain)
            course.trials.note_outlook(outlook)
        self._weights.note(self._search.weights)
        number = course.ask(
            "search",
            configuration,
            inside=self._estimates is None,
            technique=point.technique,
            bound=self._cutoff(configuration),
        )
        return Asked(number, configuration, inside=True)

    def _cutoff(self, configuration: Configuration) -> float | None:
        """By the value that a point has to come near to: the best, or that of what costs no more.

        None for what runs to its end.

        A trial that is stored has its own, for which no network need be built again.
        """
        if self._share is not None and self._share.whole(self._course.number + 1):
            return None
        if self._course.next_is_stored:
            return None
        rival = self._course.best_known()
        if self._course.tradeoff is not None:
            rival = self._course.tradeoff.rival(configuration)
        return cutoff(rival, self._course.spec.cutoff_factor)

    def tell(self, asked: Asked, trial: Trial, result: TrialResult) -> None:
        """Tell the search, and remember the best."""
        value = result.value
        if self._share is not None and trial.kind == "search":
            self._share.tell(trial.number, result.status)
        if asked.inside:
            if value is not None:
                found = (value, trial.number)
                self._course.leader = min(self._course.leader or found, found)
            self._search.tell(asked.configuration, result)
        if self._estimates is not None and value is not None:
            self._estimates.enter(trial, asked.configuration, value)


class Baselines(Searching):
    """The baselines alone, before any search trial.

    A search trial asked before any value is known has no cutoff, and takes hours where thousands of
    ranks have an algorithm that does not suit so many.
    """

    def end(self) -> Stop | None:
        """Why no baseline may be asked now."""
        asked = self._course.number == len(self._baselines)
        return "done" if asked else self._course.end()


class EstimatedBaselines(Baselines):
    """The baselines on the truncated trace."""

    def ask(self) -> Asked:
        """Have the next baseline estimated; the search learns of it where it is a point of it."""
        label, configuration = self._baselines[self._course.number]
        inside = self._search.add(configuration)
        number = self._course.ask("estimate", configuration, inside=False, label=label)
        return Asked(number, configuration, inside)


class Proposed(Searching):
    """What scripts propose, in the place of the search.

    Args:
        course: Of the job.
        built: Its baselines.
        proposals: What is proposed.
        weights: Of the jobs that the search learns from, as stored.
    """

    def __init__(
        self,
        course: Course,
        built: BuiltSpace,
        proposals: ProposedByScripts,
        weights: SourceWeights,
    ) -> None:
        super().__init__(course, built, proposals, weights)
        self._proposals = proposals

    def end(self) -> Wait | None:
        """Why no proposal may become a trial now."""
        end = super().end()
        if end is not None or self._course.number < len(self._baselines):
            return end
        return None if self._proposals.at_hand() else "idle"
