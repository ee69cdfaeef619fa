import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Workshop } from './workshop.ts';

const stanzas = 20;

/** A small repository on loopback with an index that can be changed. */
export interface SmallRepository {
  /** Its entry in a manifest. */
  readonly entry: object;
  /** Publishes a new version of one of its packages. */
  change(): void;
}

/** Starts the small repository, which ends with the workshop. */
export const startSmallRepository = async (workshop: Workshop): Promise<SmallRepository> => {
  let version = 1;
  const composePackages = () =>
    Array.from(
      { length: stanzas },
      (_, index) =>
        `Package: com.example.small${index}\nVersion: ${index === 0 ? version : 1}\nArchitecture: iphoneos-arm\n` +
        `Name: Small ${index}\nFilename: debs/${index}.deb\nSize: 1\n`,
    ).join('\n');
  const files: Record<string, () => string> = {
    '/Release': () => 'Origin: Small\nSuite: stable\n',
    '/Packages': composePackages,
  };
  const server = createServer((request, response) => {
    const text = files[request.url ?? '']?.();
    if (text === undefined) {
      response.writeHead(404).end();
      return;
    }
    const etag = `"${createHash('sha256').update(text).digest('hex')}"`;
    const known = request.headers['if-none-match'] === etag;
    response.writeHead(known ? 304 : 200, { etag }).end(known ? undefined : text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  workshop.atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    entry: { slug: 'small', uri: `http://127.0.0.1:${port}`, ranking: 3 },
    change: () => {
      version++;
    },
  };
};
