/**
 * How long a test waits for what must come, in milliseconds, and how often it looks: where other guests take most of a machine,
 * what takes one second alone takes a minute. It costs time only where a test fails.
 */
export const patience = { timeout: 120_000, interval: 50 };
