import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { watchStamp } from '../../functions/node/watch-stamp.ts';
import { Announcement } from '../../src/publication/stamp.ts';
import { temporaryFolder } from '../support/folder.ts';

const now = () => new Date('2026-05-01T00:00:00.000Z');

it('C12: what vanished goes only when every running server has noticed that something else is in force', async () => {
  const state = temporaryFolder();
  const announcement = new Announcement(state, now);
  let noticed = 0;
  const end = watchStamp(path.join(state, 'generation.json'), () => noticed++);
  await announcement.settle();
  expect(noticed).toBe(1);
  // It is told once, however often that is waited for.
  await announcement.settle();
  end();
  expect(JSON.parse(readFileSync(path.join(state, 'generation.json'), 'utf8')).publishedAt).toBe(now().toISOString());
});

it('C12: servers that are told already while it is looked for what vanished are told once', async () => {
  const state = temporaryFolder();
  const numberOf = () => JSON.parse(readFileSync(path.join(state, 'generation.json'), 'utf8')).generation;
  const announcement = new Announcement(state, now);
  let noticed = 0;
  const end = watchStamp(path.join(state, 'generation.json'), () => noticed++);
  announcement.stand();
  const first = numberOf();
  await announcement.settle();
  expect([noticed, numberOf()]).toEqual([1, first]);
  end();
});

it('C12: each telling has another number, and a publishing that never ended is known to the next', () => {
  const state = temporaryFolder();
  const numberOf = () => JSON.parse(readFileSync(path.join(state, 'generation.json'), 'utf8')).generation;
  const killed = new Announcement(state, now);
  expect(killed.resumes).toBe(false);
  killed.tell();
  const first = numberOf();
  const next = new Announcement(state, now);
  expect(next.resumes).toBe(true);
  next.tell();
  expect(numberOf()).toBe(first + 1);
  next.end();
  expect(new Announcement(state, now).resumes).toBe(false);
  writeFileSync(path.join(state, 'generation.json'), 'damaged');
  next.tell();
  expect(numberOf()).toBeGreaterThan(1);
});
