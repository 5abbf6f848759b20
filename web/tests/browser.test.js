// Every story told in a real browser against the real server. One file, so that they share one browser process.

import './stories/signing-in.js';
import './stories/deciding.js';
import './stories/together.js';
import './stories/losing.js';
import './stories/guarding.js';
import './stories/hostile.js';
import './stories/places.js';
import './stories/looks.js';
