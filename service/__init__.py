"""The REST service and the runtime that embeds coordinators and workers."""
