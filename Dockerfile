# The image of docker-compose.yml: the wheel, its dependencies, and nothing else.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY engine engine
COPY migrations migrations
COPY replay replay
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist .

FROM python:3.12-slim
COPY --from=build /dist /dist
RUN pip install --no-cache-dir /dist/*.whl && rm -r /dist && useradd --create-home plinian
USER plinian
WORKDIR /data
ENTRYPOINT ["plinian"]
CMD ["--help"]
