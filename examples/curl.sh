#!/bin/sh
# One chat request that avoids what Routecanary excludes. On any trouble with the list it goes out without one.
#   MODEL=author/slug OPENROUTER_API_KEY=… sh curl.sh "Say hello."
canary=${ROUTECANARY_URL:-http://127.0.0.1:7450} gateway=${GATEWAY_URL:-https://openrouter.ai/api/v1}
kept=${XDG_CACHE_HOME:-$HOME/.cache}/routecanary-example ignore='[]'
mkdir -p "$kept" && touch "$kept/tag"

# The tag makes a list that has not changed cost nothing: 304, and the one that was kept is still right.
if curl -sf -m 2 -H "X-Routecanary-Token: $ROUTECANARY_TOKEN" --etag-compare "$kept/tag" --etag-save "$kept/new-tag" \
        -o "$kept/new" "$canary/v1/exclusions?model=$MODEL"; then
    [ -s "$kept/new" ] && mv "$kept/new" "$kept/list" && mv "$kept/new-tag" "$kept/tag"
    ignore=$(sed -n 's/.*"ignore":\(\[[^]]*]\).*/\1/p' "$kept/list")
fi

prompt=$(printf %s "$1" | sed 's/["\\]/\\&/g')
curl -sS "$gateway/chat/completions" -H "Authorization: Bearer $OPENROUTER_API_KEY" -H 'Content-Type: application/json' \
    -d "{\"model\": \"$MODEL\", \"messages\": [{\"role\": \"user\", \"content\": \"$prompt\"}], \"provider\": {\"ignore\": ${ignore:-[]}}}"
