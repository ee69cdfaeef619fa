import { userInfo } from 'node:os';
import { auditFileIn, formatEvent, openAuditFile, type SecurityEvent } from '../../functions/gateway/on-node.ts';

/**
 * Writes to the audit log in a state folder what a command did, and who ran it. If that fails, the command has still
 * been done, and standard error says so.
 */
export const auditCommand = async (event: SecurityEvent, state: string): Promise<void> => {
  const file = auditFileIn(state);
  const operator = process.env.SUDO_USER ?? readUserName();
  const line = formatEvent({ ...event, ...(operator !== undefined && { operator }) }, Date.now());
  await openAuditFile(file)
    .write(line)
    .catch((error) => {
      const outcome = event.reason === 'unconfirmed' ? 'Not' : 'Done, but not';
      process.stderr.write(`${outcome} written to the audit log ${file}: ${error.message}\n`);
    });
};

// In a container the user may have no name.
const readUserName = () => {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
};
