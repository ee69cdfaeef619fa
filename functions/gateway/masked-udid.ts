import { toReadable } from './readable-text.ts';

/**
 * A device identifier as the gateway keeps and shows it: dots and the last four characters, dots alone where four
 * characters would be a large part of it. Whole identifiers are kept nowhere.
 */
export const maskUdid = (udid: string): string => (udid.length >= 16 ? `••••${toReadable(udid.slice(-4))}` : '••••');
