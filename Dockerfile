# The webhook as an image: `podium` and the shared libraries it names, nothing else. No shell, no package manager.
#   docker build -t podium .
#   docker run -p 9443:9443 -v "$PWD/certs-of-mine:/certs:ro" podium --cert-file /certs/tls.crt --key-file /certs/tls.key

FROM debian:12 AS build
WORKDIR /src
COPY . .
# `dev` knows the packages and installs what is missing.
RUN ./dev build release podium
# Libraries are copied from where the loader found them, which is where it will look for them again. Links are followed:
# the image then has each library once, under the name that the binary asks for.
RUN install -D -s build/release/podium /image/usr/bin/podium \
 && ldd /image/usr/bin/podium | grep -o '/[^ ]*' | sort -u | xargs cp --parents --dereference --target-directory=/image

FROM scratch
COPY --from=build /image /
# Of a Kubernetes pod with runAsNonRoot: a number, because there is no /etc/passwd to look a name up in. The key file must
# be readable by it.
USER 65532:65532
EXPOSE 9443 8080
ENTRYPOINT ["/usr/bin/podium", "serve"]
