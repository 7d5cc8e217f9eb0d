// A chat request that avoids what Routecanary excludes. On any trouble with the list it goes out without one.
//   MODEL=author/slug OPENROUTER_API_KEY=… node node.mjs "Say hello."
const { MODEL, OPENROUTER_API_KEY, ROUTECANARY_TOKEN = "" } = process.env;
const { ROUTECANARY_URL = "http://127.0.0.1:7450", GATEWAY_URL = "https://openrouter.ai/api/v1" } = process.env;
let list = { exclusions: [] }, tag = "", trustedUntil = 0;

async function ask(wait) { // asks for the list; with a tag, the listener answers when it has changed
  const url = `${ROUTECANARY_URL}/v1/exclusions?model=${encodeURIComponent(MODEL)}&wait=${wait}`;
  const headers = { "If-None-Match": tag, "X-Routecanary-Token": ROUTECANARY_TOKEN };
  const answer = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(wait * 1000 + 2000) });
  if (answer.status === 200) [list, tag] = [await answer.json(), answer.headers.get("etag")];
  else if (answer.status !== 304) throw new Error(`status ${answer.status}`);
  trustedUntil = Date.parse(answer.headers.get("routecanary-trusted-until"));
}
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
async function keepFresh() {
  for (;;) await ask(30).then(() => pause(200), () => pause(1000 + 4000 * Math.random()));
}
function avoid(own = []) { // the caller's names first; whatever has ended is over, also while nobody answers
  const now = Date.now(), holds = (each) => !(Date.parse(each.until) <= now) && (each.layer !== "canary" || now < trustedUntil);
  return [...new Set([...own, ...list.exclusions.filter(holds).map((each) => each.route)])];
}

await ask(0).catch(() => {}); // two seconds at most
keepFresh(); // for as long as the program runs
const body = { model: MODEL, messages: [{ role: "user", content: process.argv[2] }], provider: { ignore: avoid() } };
const headers = { Authorization: `Bearer ${OPENROUTER_API_KEY}`, "Content-Type": "application/json" };
const answer = await fetch(`${GATEWAY_URL}/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
process.stdout.write(await answer.text(), () => process.exit(answer.ok ? 0 : 1));
