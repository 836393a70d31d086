# Fathom with PostgreSQL, other model providers and telemetry. It runs as a user without rights; the only folder it writes to is /data.
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/fathom \
    && /opt/fathom/bin/pip install --no-cache-dir -c requirements.lock ".[anthropic,ollama,postgres,telemetry]"

FROM python:3.12-slim
RUN useradd --create-home --uid 10001 fathom && install -d -o fathom /data
COPY --from=build /opt/fathom /opt/fathom
ENV PATH=/opt/fathom/bin:$PATH \
    FATHOM_HOME=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8321
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8321/api/health', timeout=4)"]
ENTRYPOINT ["fathom"]
CMD ["serve", "--host", "0.0.0.0"]
