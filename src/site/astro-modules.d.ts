// What the compiler of pages makes of a file, for TypeScript, which cannot read it.
declare module '*.astro' {
  const component: import('./page-runtime.ts').Component;
  export default component;
}
