import { toReadable } from './readable-text.ts';

/**
 * A device identifier as the gateway keeps and shows it: dots and the last four characters, or only dots if four
 * characters would be a large part of it. The whole identifier is never stored.
 */
export const maskUdid = (udid: string): string => (udid.length >= 16 ? `••••${toReadable(udid.slice(-4))}` : '••••');
