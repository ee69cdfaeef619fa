import type { QuestionKind } from '../catalog-questions.ts';
import type { Meter } from './meter.ts';

/** Has a question of this kind answered, and passes on what becomes of it. */
export type Measure = <T>(kind: QuestionKind, answer: () => Promise<T>) => Promise<T>;

/** For an index that nobody reads metrics of. */
export const unmeasured: Measure = (_, answer) => answer();

/** Notes in this meter how long each question takes, in milliseconds, and whether it failed. */
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
