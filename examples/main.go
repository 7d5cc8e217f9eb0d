// A chat request that avoids what Routecanary excludes. On any trouble with the list it goes out without one.
//
//	ROUTECANARY_URL=http://127.0.0.1:7450 GATEWAY_URL=https://openrouter.ai/api/v1 MODEL=author/slug go run main.go "Say hello."
package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
)

var env, tag, known = os.Getenv, "", []string{}

// avoid asks for the list before each request; one that has not changed is not sent again.
func avoid() []string {
	var list struct{ Ignore []string }
	ask, err := http.NewRequest("GET", env("ROUTECANARY_URL")+"/v1/exclusions?model="+env("MODEL"), nil)
	if err == nil {
		ask.Header = http.Header{"If-None-Match": {tag}, "X-Routecanary-Token": {env("ROUTECANARY_TOKEN")}}
		answer, err := (&http.Client{Timeout: 500e6}).Do(ask) // half a second
		if err == nil && answer.StatusCode == 200 && json.NewDecoder(answer.Body).Decode(&list) == nil {
			tag, known = answer.Header.Get("ETag"), list.Ignore
			return known
		}
		if err == nil && answer.StatusCode == 304 {
			return known
		}
	}
	tag = ""
	return []string{}
}

func main() {
	say := []map[string]string{{"role": "user", "content": os.Args[1]}}
	provider := map[string]any{"ignore": append([]string{}, avoid()...)} // the caller's own names come first
	body, _ := json.Marshal(map[string]any{"model": env("MODEL"), "messages": say, "provider": provider})
	chat, _ := http.NewRequest("POST", env("GATEWAY_URL")+"/chat/completions", bytes.NewReader(body))
	chat.Header = http.Header{"Authorization": {"Bearer " + env("OPENROUTER_API_KEY")}, "Content-Type": {"application/json"}}
	if answer, err := http.DefaultClient.Do(chat); err == nil {
		os.Stdout.ReadFrom(answer.Body)
	}
}
