// Every story told in a real browser against the real server. One file, so that they share one browser process; a few at a
// time, because most of the time is spent waiting.

import { after, describe, test } from 'node:test';

import './stories/signing-in.js';
import './stories/other-ports.js';
import './stories/deciding.js';
import './stories/together.js';
import './stories/working-through.js';
import './stories/request-page.js';
import './stories/insights.js';
import './stories/keyboard.js';
import './stories/notifying.js';
import './stories/losing.js';
import './stories/guarding.js';
import './stories/hostile.js';
import './stories/places.js';
import './stories/asking-less.js';
import './stories/talking.js';
import './stories/chatting.js';
import './stories/sample.js';
import './stories/runs.js';
import './stories/appearance.js';
import { closeBrowser, stories, tellStory } from './world.js';

describe('in the browser', { concurrency: 3 }, () => {
  after(closeBrowser);
  for (const story of stories) test(story.name, { timeout: 60_000 }, () => tellStory(story));
});
