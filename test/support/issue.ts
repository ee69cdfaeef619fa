import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { createProtocol, type Protocol, refreshLifeMaximum } from '../../functions/gateway/protocol.ts';
import type { CredentialStore } from '../../functions/gateway/store/credential-store.ts';
import { type Credentials, readCallback } from './package-manager.ts';

/** The protocol's operations on a store, without HTTP. */
export const openProtocol = (
  store: CredentialStore,
  { credentialLife = 3_600_000, refreshLife = refreshLifeMaximum } = {},
): Protocol =>
  createProtocol({
    store,
    cryptography: createNodeCryptography(),
    callbacks: { addresses: [], schemes: new Set(['sileo:']), loopback: false },
    credentialLife,
    refreshLife,
  });

/** Signs in to an account on a new device, without a browser. */
export const issue = async (protocol: Protocol, accountId: string): Promise<Credentials> => {
  const added = await protocol.authenticate({ callback: 'sileo://x', udid: 'u'.repeat(40), model: 'iPhone12,1' });
  if (!added) throw new Error('too many sign-ins are under way');
  return readCallback((await protocol.completeSignIn(added.handle, accountId))?.location);
};
