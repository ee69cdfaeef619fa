// Whether the server in this container answers whatever it can be asked: the health check of the image.
const { DEBDEX_PORT: port = '8080', DEBDEX_BASE_PATH: path = '' } = process.env;
const answer = await fetch(`http://127.0.0.1:${port}${path}/v2/readyz`, { signal: AbortSignal.timeout(5000) }).catch(
  (error) => ({ ok: false, status: error.cause?.code ?? error.name }),
);
if (!answer.ok) {
  process.stderr.write(`/v2/readyz: ${answer.status}\n`);
  process.exitCode = 1;
}
