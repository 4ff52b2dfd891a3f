"""Studies: tables and figures of the papers, made again, ours beside theirs."""

from __future__ import annotations

from studies.deng_benchmarks import DENG_BENCHMARKS
from studies.deng_graphs import DENG_GRAPHS
from studies.deng_latency import DENG_LATENCY
from studies.deng_models import DENG_MODELS
from studies.hu_embeddings import HU_EMBEDDINGS
from studies.hu_orderings import HU_ORDERINGS
from studies.hu_tuning import HU_TUNING
from studies.jeannot_treematch import JEANNOT_TREEMATCH
from studies.mappers_in_time import MAPPERS_IN_TIME
from studies.soryani_contention import SORYANI_CONTENTION
from studies.study import Study
from studies.trust import TRUST
from studies.wu_hierarchy import WU_HIERARCHY
from studies.wu_overhead import WU_OVERHEAD

__all__ = ["STUDIES"]

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        *DENG_GRAPHS,
        DENG_LATENCY,
        *DENG_BENCHMARKS,
        DENG_MODELS,
        HU_EMBEDDINGS,
        HU_ORDERINGS,
        HU_TUNING,
        JEANNOT_TREEMATCH,
        WU_HIERARCHY,
        WU_OVERHEAD,
        SORYANI_CONTENTION,
        MAPPERS_IN_TIME,
        TRUST,
    )
}
