import type { QuestionKind } from '../catalog-questions.ts';
import type { Meter } from './meter.ts';

/** Runs a question of this kind and returns, or throws, what the question does. */
export type Measure = <T>(kind: QuestionKind, answer: () => Promise<T>) => Promise<T>;

/** For an index without metrics. */
export const unmeasured: Measure = (_, answer) => answer();

/** Records in this meter how long each question takes, in milliseconds, and whether it failed. */
export const measureBy =
  (meter: Meter): Measure =>
  async (kind, answer) => {
    const began = performance.now();
    try {
      return await answer();
    } catch (error) {
      meter.questionsOf(kind).failed++;
      throw error;
    } finally {
      meter.questionsOf(kind).durations.add(performance.now() - began);
    }
  };
