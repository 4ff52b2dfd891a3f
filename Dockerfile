# One image for all processes. The first stage is set up as any checkout; the second takes what runs of it, and
# the compilers that captures need. `make image` builds it, tells its size and runs the demo's job in it.
FROM debian:13-slim AS build
WORKDIR /opt/hamtune
COPY . .
RUN ./setup.sh && deploy/slim.sh && chmod -R a+rX . # whatever the umask of the checkout was

FROM debian:13-slim
COPY deploy/image.dpkg /etc/dpkg/dpkg.cfg.d/hamtune
COPY packages-image.debian /tmp/
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends $(sed 's/#.*//' /tmp/packages-image.debian) \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /tmp/packages-image.debian \
 && useradd --uid 10001 --home-dir /var/lib/hamtune --create-home --shell /usr/sbin/nologin hamtune
COPY --from=build /opt/hamtune /opt/hamtune
WORKDIR /opt/hamtune

# The root is read-only when it runs: what it writes lies in volumes.
ENV HAMTUNE_DATA=/var/lib/hamtune HAMTUNE_LOG_FORMAT=json PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=/tmp
VOLUME /var/lib/hamtune
USER 10001:10001
ENTRYPOINT ["/opt/hamtune/hamtune"]
CMD ["up"]
