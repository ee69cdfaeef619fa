// The module of the platform, as far as it is used here.
declare module 'cloudflare:workers' {
  export class DurableObject<Environment> {
    protected readonly ctx: import('./platform.ts').ObjectState;
    protected readonly env: Environment;
    constructor(ctx: import('./platform.ts').ObjectState, env: Environment);
  }
  /** Has work go on after the answer to the request that it began in. */
  export const waitUntil: (work: Promise<unknown>) => void;
}
