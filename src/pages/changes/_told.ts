import { compiledContent } from '../../../CHANGELOG.md';
import { changesForOperators, changesForUsers } from '../../site/change-log.ts';

// Pages do not wait (src/site/page-runtime.ts), so this is ready before they are rendered.
const html = await compiledContent();

export const forUsers = changesForUsers(html);
export const forOperators = changesForOperators(html);
