export type { Change, ChangesOptions, FollowOptions, KnownGeneration } from './changes.ts';
export { Client } from './client.ts';
export { AnswerError, ChangesLost, FilesAlone } from './errors.ts';
export type { ClientOptions, DependencyOptions, SearchOptions } from './questions.ts';
export type { AnswerCache, AskOptions, KeptAnswer, RequestOptions } from './requests.ts';
export type * from './types.ts';
