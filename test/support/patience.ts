/**
 * How long a test waits for something that has to come, and how often it looks, in milliseconds. On a machine that
 * others keep busy, what usually takes one second may take a minute. It only costs time if a test fails.
 */
export const patience = { timeout: 120_000, interval: 50 };
