// The process that bundles the pages; see bundle.ts, which starts it.
import { makeBundle } from './bundle.ts';
import { answerOrder } from './own-process.ts';

answerOrder(({ folder }: { readonly folder: string }) => makeBundle(folder));
