# One image for all processes. Its steps are those of setup.sh, which continuous integration runs natively.
FROM debian:12-slim

WORKDIR /opt/hamtune
COPY . .
RUN ./setup.sh \
 && rm -rf /var/lib/apt/lists/* /root/.cache \
 && useradd --uid 10001 --home-dir /var/lib/hamtune --create-home --shell /usr/sbin/nologin hamtune

# The root is read-only when it runs: what it writes lies in volumes.
ENV HAMTUNE_DATA=/var/lib/hamtune HAMTUNE_LOG_FORMAT=json PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=/tmp
VOLUME /var/lib/hamtune
USER 10001:10001
ENTRYPOINT ["/opt/hamtune/hamtune"]
CMD ["up"]
