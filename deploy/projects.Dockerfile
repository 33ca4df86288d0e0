# The example application projects as an image, for compose.yaml. It has no accounts: keep it on loopback.
#
#   docker build -f deploy/projects.Dockerfile -t projects .

FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -C examples -trimpath -ldflags="-s -w" -o /projects ./projects
RUN mkdir -p /data/blobs

# Unlike the worker's image it has a shell, whose wget asks /healthz.
FROM busybox:1.37.0
COPY --from=build /projects /projects
# A new volume takes its owner from here, and the worker, which removes files, has the same number.
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/projects"]
# Not on loopback, which is the container's own.
CMD ["-addr", "0.0.0.0:8080", "-data", "/data"]
