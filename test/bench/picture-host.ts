import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificate } from '../support/certificates.ts';

// Large enough for every place that shows an icon.
const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="120"><rect width="120" height="120" fill="#357"/></svg>';

/** Stands on loopback for all hosts of others: whatever a page shows of them is the same picture. */
export interface PictureHost {
  /** Flags with which a browser finds all hosts there. */
  readonly flags: readonly string[];
  close(): Promise<void>;
}

/**
 * Starts a host of pictures on a free port of loopback. Without it, each icon whose host cannot be reached is an error in
 * the browser's console, which counts against the page although a visitor would see the icon.
 */
export const startPictureHost = async (): Promise<PictureHost> => {
  const server = createServer(createCertificate({ names: ['127.0.0.1'] }), (_, response) => {
    response.writeHead(200, { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'max-age=86400' }).end(picture);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    flags: [`--host-resolver-rules=MAP * 127.0.0.1:${port}, EXCLUDE 127.0.0.1`, '--ignore-certificate-errors'],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
