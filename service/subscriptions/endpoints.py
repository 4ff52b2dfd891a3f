"""Subscriptions to jobs: webhooks and e-mail."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from service.auth.access import PrincipalDependency, needs
from service.bodies import read_document
from service.dependencies import SettingsDependency, StorageDependency
from service.openapi import answers, body
from service.parameters import Cursor, Limit
from service.subscriptions import service
from service.subscriptions.limits import SendingLimits
from service.subscriptions.schemas import (
    DELIVERY_EXAMPLE,
    EXAMPLE,
    NEW_EXAMPLE,
    REQUEST_EXAMPLE,
    DeliveryPage,
    DeliveryView,
    NewSubscription,
    NewSubscriptionView,
    SubscriptionPage,
    SubscriptionView,
)

__all__ = ["router"]

router = APIRouter(prefix="/subscriptions", tags=["subscriptions"])

SubscriptionId = Annotated[
    str, Path(max_length=64, pattern=r"^[!-~]+$", description="The subscription's id.")
]
OfJob = Annotated[
    str | None,
    Query(max_length=64, pattern=r"^[!-~]+$", description="Only those to this job alone."),
]


@router.post(
    "",
    dependencies=[needs("jobs", "write")],
    operation_id="create_subscription",
    summary="Subscribe to jobs",
    status_code=201,
    response_model=NewSubscriptionView,
    responses=answers(
        NEW_EXAMPLE, 400, 404, 413, 415, 422,
        status=201,
        description="The subscription with its secret, which is never told again.",
        headers={"Location": "Where the subscription is."},
    ),
    openapi_extra=body(
        NewSubscription,
        {
            "One job to a webhook": REQUEST_EXAMPLE,
            "New incumbents of all jobs by e-mail, one in ten minutes at most": {
                "target": "ada@example.org",
                "events": ["incumbent", "completed", "failed"],
                "pause_seconds": 600.0,
            },
        },
    ),
)  # fmt: skip
async def create_subscription(
    request: Request,
    response: Response,
    storage: StorageDependency,
    principal: PrincipalDependency,
    settings: SettingsDependency,
) -> NewSubscriptionView:
    """Have a webhook called, or a mail sent, when a job ends or has a new incumbent.

    A job that has ended already is told of at once.
    """
    document = await read_document(request, settings.body_limit)
    made = await run_in_threadpool(service.create, storage, principal, settings.notify, document)
    response.headers["Location"] = f"{request.url.path}/{made.id}"
    view: NewSubscriptionView = NewSubscriptionView.of(made, secret=made.secret)
    return view


@router.get(
    "",
    dependencies=[needs("jobs", "read")],
    operation_id="list_subscriptions",
    summary="List subscriptions",
    response_model=SubscriptionPage,
    responses=answers(
        {"items": [EXAMPLE], "cursor": None, "email": True, "email_domains": ["example.org"]},
        422,
        description="A page, newest first.",
    ),
)
def list_subscriptions(
    storage: StorageDependency,
    settings: SettingsDependency,
    job_id: OfJob = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> SubscriptionPage:
    """Subscriptions of one's project without their secrets, newest first.

    `email` tells whether there may be any to e-mail addresses.
    """
    page = storage.subscriptions.page(job_id=job_id, limit=limit, cursor=cursor)
    mail = settings.notify.mail
    return SubscriptionPage(
        items=[SubscriptionView.of(one) for one in page.items],
        cursor=page.cursor,
        email=mail is not None,
        email_domains=None if mail is None or mail.domains is None else list(mail.domains),
    )


@router.get(
    "/{subscription_id}",
    dependencies=[needs("jobs", "read")],
    operation_id="get_subscription",
    summary="Show a subscription",
    response_model=SubscriptionView,
    responses=answers(EXAMPLE, 404, 422, description="The subscription."),
)
def get_subscription(
    subscription_id: SubscriptionId, storage: StorageDependency
) -> SubscriptionView:
    """One subscription without its secret."""
    view: SubscriptionView = SubscriptionView.of(storage.subscriptions.get(subscription_id))
    return view


@router.delete(
    "/{subscription_id}",
    dependencies=[needs("jobs", "write")],
    operation_id="delete_subscription",
    summary="End a subscription",
    status_code=204,
    responses={
        status: answer for status, answer in answers(None, 404, 422).items() if status != 200
    },
)
def delete_subscription(subscription_id: SubscriptionId, storage: StorageDependency) -> None:
    """End a subscription; what was not sent yet is not sent any more."""
    storage.subscriptions.delete(subscription_id)


@router.post(
    "/{subscription_id}/test",
    dependencies=[needs("jobs", "write")],
    operation_id="test_subscription",
    summary="Send a test",
    response_model=DeliveryView,
    responses=answers(
        {**DELIVERY_EXAMPLE, "event": "test", "tries": 1}, 404, 422, 429,
        description="What came of it: `state` is `sent` or `failed`, `answer` says why.",
    ),
)  # fmt: skip
def test_subscription(
    request: Request,
    subscription_id: SubscriptionId,
    storage: StorageDependency,
    principal: PrincipalDependency,
    settings: SettingsDependency,
) -> DeliveryView:
    """Send a message now, once, and tell what came of it."""
    limits = request.app.state.test_limits
    assert isinstance(limits, SendingLimits)
    with limits.admitted(storage, principal):
        told = service.test(storage, settings.notify, subscription_id)
    return DeliveryView.model_validate(told)


@router.get(
    "/{subscription_id}/deliveries",
    dependencies=[needs("jobs", "read")],
    operation_id="list_deliveries",
    summary="List what was sent",
    response_model=DeliveryPage,
    responses=answers(
        {"items": [DELIVERY_EXAMPLE], "cursor": None}, 404, 422, description="A page, newest first."
    ),
)
def list_deliveries(
    subscription_id: SubscriptionId,
    storage: StorageDependency,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> DeliveryPage:
    """Messages to a subscriber, newest first: what waits, and what came of the others."""
    page = storage.subscriptions.deliveries(subscription_id, limit=limit, cursor=cursor)
    return DeliveryPage(
        items=[DeliveryView.model_validate(one) for one in page.items], cursor=page.cursor
    )
