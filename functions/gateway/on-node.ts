// The entrance to the gateway for a Node host and for the commands.

export { isOneScript, normaliseAccountName } from './account-name.ts';
export {
  auditFileIn,
  ConfigurationInvalid,
  type GatewayConfiguration,
  readGatewayConfiguration,
  readStoreLocation,
} from './configuration.ts';
export { openAuditFile } from './node/audit-file.ts';
export { createNodeCryptography } from './node/node-cryptography.ts';
export { createNodePasswords } from './node/node-passwords.ts';
export { openGateway } from './node/open-gateway.ts';
export { type Passwords, smallCost } from './passwords.ts';
export { formatEvent, type SecurityEvent, type ToldEvent } from './security-log.ts';
export type { Restored } from './store/backup.ts';
export { BackupRefused, RestoreUnconfirmed } from './store/backup-file.ts';
export {
  type AccountSummary,
  type CredentialStore,
  type StoreLocation,
  StoreUnavailable,
} from './store/credential-store.ts';
export { openCredentialStore } from './store/open-store.ts';

/** The two commands for a whole store (see store/backup.ts), loaded only when they run. */
export const loadBackup = () => import('./store/backup.ts');
