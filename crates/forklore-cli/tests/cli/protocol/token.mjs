// Adds the token to every request of the suite, which has no option for it.
import { channel } from 'node:diagnostics_channel';

const value = `Bearer ${process.env.FORKLORE_TOKEN}`;
channel('undici:request:create').subscribe(({ request }) => request.addHeader('authorization', value));
channel('http.client.request.created').subscribe(({ request }) => request.setHeader('authorization', value));
