import process from 'node:process';
import { openFetchHandler } from './handler.ts';
import { answerEvents } from './lambda-events.ts';
import { readFetchSettings } from './settings.ts';

/** The function for AWS Lambda: `lambda.handler`. */
export const handler = answerEvents(openFetchHandler(readFetchSettings(process.env)));
