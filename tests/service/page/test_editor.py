"""The editor of job files as YAML: what it completes, explains and marks, and doing without it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.service.page.conftest import (
    PATIENCE,
    Service,
    Window,
    editor,
    expect_typed,
    retype,
    typed,
    violations,
)

expect.set_options(timeout=PATIENCE)

JOB = """\
name: typed
application: {builtin: cg, class: S, ranks: 16}
machine:
  nodes: 16
  degree: 4
  host_speed: 100Gf
  link_bandwidth: 40Gbps
search:
  topology: [random, torus-2d]
budget: {trials: 4}
"""
BLOCKS = """\
# of the lab
name: typed-by-hand

application:
  builtin: cg
  class: S
  ranks: 16
machine: # sixteen hosts
  nodes: 16
  degree: 4
  host_speed: 100Gf
  link_bandwidth: 40Gbps
  link_latency: 0s
search:
  topology:
    - family: random
      instances: 2
    - torus-2d
  collectives:
    alltoall: all
budget:
  trials: 4
seed: 1
"""
BRACKETS = """\
name: "typed: with quotes"
application: {builtin: cg, class: S, ranks: 16}
machine: {
  nodes: 16, degree: 4,
  host_speed: "100Gf", link_bandwidth: 40Gbps}
search:
  topology: [random, torus-2d]
  ordering: [original,
  hamorder]
budget: {trials: 4}
"""
BROKEN = """\
machine:
  host_speed: "100Gf"link_bandwidth: 40Gbps
  nodes: 16
  degree: [4
search:
  topology: }
  ordering:
    random
"""
PARTS = "**/assets/part-*.js"


def as_yaml(page: Page) -> None:
    page.locator(".choice label", has_text="YAML").click()


def opened(service: Service, open_page: Callable[..., Window], text: str) -> Page:
    """The editor with a text, the cursor at its end."""
    window = open_page(f"{service.url}/#/new")
    window.expected = ("422", "400")
    as_yaml(window.page)
    # With the catalogue, which says what names mean.
    expect(window.page.get_by_role("button", name="Insert an example")).to_be_visible()
    retype(window.page, text)
    return window.page


def inside(page: Page) -> Locator:
    """What the editor shows, its lists and tips included."""
    return page.locator("#job-text")


def suggested(page: Page, name: str) -> Locator:
    return inside(page).get_by_role("option", name=re.compile(f"^{re.escape(name)}"))


def begin(page: Page, number: int, indent: int) -> None:
    """Take back what a new line is indented too far, as after the last key of an item."""
    begun = len(line(page, number).text_content() or "")
    assert indent <= begun <= indent + 4, f"line {number} begins with {begun} blanks"
    for left in range(begun - 2, indent - 1, -2):
        page.keyboard.press("Backspace")
        expect(line(page, number)).to_have_text(re.compile(f"^ {{{left}}}$"))


def line(page: Page, number: int) -> Locator:
    """A line of the text, from 1."""
    return editor(page).locator(".cm-line").nth(number - 1)


def test_keys_and_values_are_completed_with_the_keyboard(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = opened(service, open_page, "name: x\nmachine:\n  nodes: 16\n")
    page.keyboard.type("  host_sp")
    expect(suggested(page, "host_speed").first).to_be_visible()
    page.keyboard.press("Tab")
    expect_typed(page, "name: x\nmachine:\n  nodes: 16\n  host_speed: ")
    # Its example is suggested at once.
    expect(suggested(page, "100Gf")).to_be_visible()
    page.keyboard.press("Tab")
    expect_typed(page, "name: x\nmachine:\n  nodes: 16\n  host_speed: 100Gf")
    page.keyboard.press("Enter")  # the next line begins where this one does
    page.keyboard.type("tie")
    page.keyboard.press("Control+Space")
    expect(suggested(page, "tie_rule")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(suggested(page, "tie_rule")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(suggested(page, "lowest-id")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(suggested(page, "spread")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(line(page, 5)).to_have_text("  tie_rule: spread")


@pytest.mark.parametrize("lists", [False, True], ids=["as-it-comes", "with-lists-open"])
@pytest.mark.parametrize("text", [BLOCKS, BRACKETS, BROKEN], ids=["blocks", "brackets", "broken"])
def test_what_is_typed_is_what_is_written(
    service: Service, open_page: Callable[..., Window], text: str, lists: bool
) -> None:
    page = opened(service, open_page, "")
    lines = text.split("\n")
    for number, said in enumerate(lines, start=1):
        begin(page, number, len(said) - len(said.lstrip()))
        for word in re.findall(r"\S+ *", said):
            editor(page).press_sequentially(word, delay=40)
            if lists:
                page.keyboard.press("Control+Space", delay=150)
        if number < len(lines):
            page.keyboard.press("Enter")
            expect(editor(page).locator(".cm-line")).to_have_count(number + 1)
    expect_typed(page, text)


def test_enter_makes_a_new_line_while_a_list_is_open(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = opened(service, open_page, "machine:\n  nodes: 16\n")
    editor(page).press_sequentially("  host_speed: 100G", delay=40)
    expect(suggested(page, "100Gf")).to_be_visible()
    editor(page).press_sequentially("f", delay=40)
    expect(suggested(page, "100Gf")).to_have_count(0)  # there is no more to it
    page.keyboard.press("Enter")
    editor(page).press_sequentially("deg", delay=40)
    expect(suggested(page, "degree")).to_be_visible()
    page.keyboard.press("Enter")
    expect_typed(page, "machine:\n  nodes: 16\n  host_speed: 100Gf\n  deg\n  ")


def test_below_a_key_its_own_keys_are_completed(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = opened(service, open_page, "name: x\n")
    editor(page).press_sequentially("machine:", delay=40)
    page.keyboard.press("Enter")
    expect_typed(page, "name: x\nmachine:\n  ")
    page.keyboard.press("Control+Space")
    for name in ("degree", "host_speed", "nodes"):
        expect(suggested(page, name).first).to_be_visible()
    expect(suggested(page, "budget")).to_have_count(0)
    editor(page).press_sequentially("nod", delay=40)
    expect(suggested(page, "nodes").first).to_be_visible()
    page.keyboard.press("Tab")
    expect_typed(page, "name: x\nmachine:\n  nodes: ")
    # Also where the line is not indented: what is taken is.
    retype(page, "name: x\nmachine:\n")
    page.keyboard.press("Control+Space")
    expect(suggested(page, "budget")).to_be_visible()  # after what belongs to the machine
    names = inside(page).locator(".cm-completionLabel").all_text_contents()
    assert names.index("nodes") < names.index("budget")
    editor(page).press_sequentially("nod", delay=40)
    expect(suggested(page, "nodes").first).to_be_visible()
    page.keyboard.press("Tab")
    expect_typed(page, "name: x\nmachine:\n  nodes: ")


def test_below_a_key_that_holds_a_list_its_items_are_completed_with_their_dash(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = opened(service, open_page, "name: x\n")
    editor(page).press_sequentially("applications:", delay=40)
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Space")
    for name in ("- application", "- name", "- start", "- weight"):
        expect(suggested(page, name).first).to_be_visible()
    editor(page).press_sequentially("nam", delay=40)
    expect(suggested(page, "- name").first).to_be_visible()
    page.keyboard.press("Tab")
    expect_typed(page, "name: x\napplications:\n  - name: ")
    # The key alone begins the list, and a further line an item.
    retype(page, "name: x\n")
    editor(page).press_sequentially("applications", delay=40)
    expect(suggested(page, "applications").first).to_be_visible()
    page.keyboard.press("Tab")
    expect_typed(page, "name: x\napplications:\n  - ")
    expect(suggested(page, "weight").first).to_be_visible()
    retype(page, "applications:\n  - name: a\n  ")
    page.keyboard.press("Control+Space")
    expect(suggested(page, "- application").first).to_be_visible()


def test_problems_are_listed_by_line_and_told_below_it(
    service: Service, open_page: Callable[..., Window]
) -> None:
    text = JOB.replace("[random, torus-2d]", "[torus-2d, randm]").replace("trials: 4", "trials: 0")
    page = opened(service, open_page, text.replace("nodes: 16", "nodes: few") + "batch: many\n")
    marked = editor(page).locator(".cm-lintRange-error")
    expect(marked).to_have_text(["nodes: few", "randm", "trials: 0", "batch: many"])
    listed = page.locator("#job-problems li b")
    expect(listed).to_have_text(["machine.nodes", "search.topology", "budget.trials", "batch"])
    page.set_viewport_size({"width": 360, "height": 740})
    # The mark of an item stands on the line on which its words begin, however many they fill.
    longest = page.locator("#job-problems li", has_text="machine.nodes")
    probed = """(item) => {
        const probe = item.insertBefore(document.createElement("span"), item.firstChild);
        probe.textContent = "\\u200b";  // as wide as nothing, or the words would wrap behind it
        const top = (one) => one.getBoundingClientRect().top;
        const apart = Math.abs(top(probe) - top(item.querySelector("b")));
        const lines = item.querySelector("button").getBoundingClientRect().height;
        probe.remove();
        return [apart, lines];
    }"""
    apart, height = longest.evaluate(probed)
    assert (height > 40, apart < 8) == (True, True), (height, apart)
    editor(page).press("Control+Home")
    tip = inside(page).locator(".cm-tooltip.pointed")
    for number, said in ((4, "machine.nodes: "), (9, "unknown topology 'randm'")):
        page.keyboard.press("F8")
        expect(tip).to_contain_text(said)
        expect(tip).to_be_in_viewport(ratio=1)
        place, row = tip.bounding_box(), line(page, number).bounding_box()
        assert place is not None and row is not None
        assert place["y"] >= row["y"] + row["height"] - 1
        assert place["x"] >= 0 and place["x"] + place["width"] <= 360
    page.keyboard.type("random")
    expect(tip).to_have_count(0)
    expect(line(page, 9)).to_have_text("  topology: [torus-2d, random]")


def test_completion_knows_lists_and_alternatives_and_says_what_names_mean(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = opened(service, open_page, "application: {builtin: ")
    page.keyboard.press("Control+Space")
    expect(suggested(page, "cg")).to_contain_text("conjugate gradient")
    page.keyboard.type("cg, ")
    page.keyboard.press("Control+Space")
    expect(suggested(page, "class")).to_contain_text("required")
    expect(suggested(page, "trace")).to_have_count(0)  # that is another kind of application
    retype(page, "search:\n  topology:\n    - random\n    -")
    page.keyboard.type(" tor")
    expect(suggested(page, "torus-2d")).to_be_visible()
    retype(page, "search:\n  topology:\n    - ")
    page.keyboard.press("Control+Space")
    expect(suggested(page, "family")).to_be_visible()
    expect(suggested(page, "random")).to_be_visible()


def test_the_pointer_on_a_key_shows_what_the_field_means(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = opened(service, open_page, JOB + "batch: 4\n")
    tip = inside(page).locator(".cm-tooltip-hover")
    line(page, 11).get_by_text("batch").hover()
    expect(tip).to_contain_text("Trials in flight; part of the job")
    expect(tip).to_contain_text("Default: 8")
    page.mouse.move(0, 0)
    expect(tip).to_have_count(0)
    line(page, 6).get_by_text("host_speed").hover()
    expect(tip).to_contain_text("flop/s of one core.")
    expect(tip).to_contain_text("Example: 100Gf")


def test_what_is_refused_is_underlined_where_it_is_and_a_click_leads_there(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = opened(service, open_page, JOB.replace("class: S", "class: Q") + "batch: many\n")
    underlined = editor(page).locator(".cm-lintRange-error")
    expect(line(page, 2).locator(".cm-lintRange-error")).to_have_text("class: Q")
    expect(line(page, 11).locator(".cm-lintRange-error")).to_have_text("batch: many")
    expect(underlined).to_have_count(2)
    expect(editor(page)).to_have_attribute("aria-invalid", "true")
    expect(editor(page)).to_have_accessible_description(re.compile("application.class: unknown"))
    expect(inside(page).locator(".cm-lint-marker-error")).to_have_count(2)
    underlined.first.hover()
    tip = inside(page).locator(".cm-tooltip .cm-diagnostic")
    expect(tip).to_contain_text("application.class: unknown class 'Q'; allowed: S, W, A, B")
    # What is missing is marked where it would be.
    retype(page, JOB.replace("  link_bandwidth: 40Gbps\n", ""))
    expect(underlined).to_have_text(["machine"])
    page.locator("#job-problems").get_by_role("button", name="machine.link_bandwidth").click()
    expect(editor(page)).to_be_focused()
    page.keyboard.type("# of mine\n")
    expect(line(page, 3)).to_have_text("# of mine")
    expect(line(page, 4)).to_have_text("machine:")
    # And what is no YAML, where the service stopped to read.
    retype(page, JOB.replace("  degree: 4", "   degree: 4"))
    expect(line(page, 5).locator(".cm-lintRange-error")).to_be_visible()
    page.locator("#job-problems").get_by_role("button", name="line 5").click()
    page.keyboard.press("Home")
    page.keyboard.press("Home")
    page.keyboard.press("Delete")
    expect(page.locator("#job-problems .bad")).to_have_count(0)
    expect(underlined).to_have_count(0)
    expect(editor(page)).to_have_attribute("aria-invalid", "false")
    assert typed(page) == JOB


def test_tab_indents_and_after_escape_it_leaves(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = opened(service, open_page, "machine:\nnodes: 16")
    page.keyboard.press("Tab")
    expect_typed(page, "machine:\n  nodes: 16")
    page.keyboard.press("Shift+Tab")
    expect_typed(page, "machine:\nnodes: 16")
    expect(editor(page)).to_have_accessible_description(re.compile("press Escape, then Tab"))
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Edit as a form")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(editor(page)).to_be_focused()
    page.keyboard.press("Tab")  # whoever comes back indents again
    expect_typed(page, "machine:\n  nodes: 16")
    page.keyboard.press("Escape")
    page.keyboard.type("0")  # and so does whoever goes on typing
    page.keyboard.press("Tab")
    expect(editor(page)).to_be_focused()


def test_each_change_is_kept_and_can_be_undone(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = opened(service, open_page, "name: kept\n")
    page.get_by_role("button", name="Insert an example").click()
    expect(line(page, 1)).to_have_text("name: cg-64")
    editor(page).press("Control+z")
    expect_typed(page, "name: kept\n")
    editor(page).press("Control+End")
    page.keyboard.type("seed: 3")
    page.reload()
    expect_typed(page, "name: kept\nseed: 3")
    page.get_by_role("button", name="Start over").click()
    as_yaml(page)
    expect(line(page, 1)).to_have_text("name: my-job")


def test_nothing_that_is_typed_breaks_the_policy_of_the_page(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = opened(service, open_page, JOB)
    page.evaluate(
        "() => { window.broken = []; document.addEventListener('securitypolicyviolation',"
        " (event) => window.broken.push(`${event.violatedDirective} ${event.sample}`)) }"
    )
    for keys in ("Control+Home Shift+End a", "Control+a b"):
        for key in keys.split():
            page.keyboard.press(key)
    expect_typed(page, "b")
    retype(page, JOB)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+x")
    expect_typed(page, "")
    page.keyboard.press("Control+v")
    expect_typed(page, JOB)
    page.keyboard.press("Control+Home")
    for key in ("Shift+ArrowDown", "Shift+ArrowDown", "Enter", "Control+Space", "Escape"):
        page.keyboard.press(key)
    page.keyboard.press("Control+f")
    inside(page).get_by_placeholder("Find").press_sequentially("nodes")
    expect(inside(page).locator(".cm-searchMatch").first).to_be_visible()
    assert page.evaluate("window.broken") == []
    assert violations(page) == []


def test_the_form_does_without_the_editor(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = open_page("about:blank").page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{service.url}/#/new")
    expect(page.get_by_text("32 cables")).to_be_visible()
    before = {url for url in asked if "/assets/" in url}
    as_yaml(page)
    editor(page)
    assert {url for url in asked if "/assets/" in url} > before


def test_where_the_editor_is_not_loaded_a_text_field_works(
    service: Service, open_page: Callable[..., Window]
) -> None:
    window = open_page(f"{service.url}/#/new")
    page = window.page
    window.expected = ("net::ERR_FAILED", "422")
    expect(page.get_by_text("32 cables")).to_be_visible()
    page.route(PARTS, lambda route: route.abort())
    as_yaml(page)
    field = page.get_by_label("Job file as YAML")
    field.fill(JOB.replace("class: S", "class: Q"))
    expect(page.locator("#job-problems")).to_contain_text("application.class: unknown class")
    expect(page.locator("textarea#job-text")).to_have_attribute("aria-invalid", "true")
    field.fill(JOB)
    expect(page.locator("#job-problems .bad")).to_have_count(0)
    assert violations(page) == []
    # The next time it may be there; what was typed is.
    page.unroute(PARTS)
    page.reload()
    expect_typed(page, JOB)


def test_what_is_typed_while_the_editor_is_loaded_is_taken_over(
    service: Service, open_page: Callable[..., Window]
) -> None:
    window = open_page(f"{service.url}/#/new")
    page = window.page
    window.expected = ("422",)
    expect(page.get_by_text("32 cables")).to_be_visible()
    held: list[Route] = []
    page.route(PARTS, lambda route: held.append(route))
    as_yaml(page)
    field = page.locator("textarea#job-text")
    field.fill("name: early")
    field.press("ArrowLeft")
    for route in held:
        route.continue_()
    expect(editor(page)).to_be_focused()
    page.keyboard.type("!")
    expect_typed(page, "name: earl!y")
