package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
)

// SignatureHeader has the HMAC-SHA256 of the body in hexadecimal digits, with or without sha256= in front.
const SignatureHeader = "X-Signature-256"

// valid reports whether a notification proves that its sender knows the secret. It takes as long whatever
// is wrong.
func valid(form fleetv1alpha1.WebhookType, header http.Header, body, secret []byte) bool {
	if form == fleetv1alpha1.WebhookRegistry {
		token := strings.TrimPrefix(header.Get("Authorization"), "Bearer ")
		// Digests have the same length, whatever the token has.
		given, wanted := sha256.Sum256([]byte(token)), sha256.Sum256(secret)
		return hmac.Equal(given[:], wanted[:])
	}
	given, err := hex.DecodeString(strings.TrimPrefix(header.Get(SignatureHeader), "sha256="))
	sum := hmac.New(sha256.New, secret)
	_, _ = sum.Write(body) // it never fails
	return hmac.Equal(given, sum.Sum(nil)) && err == nil
}

// envelope is a notification of the reference registry.
type envelope struct {
	Events []struct {
		Action string `json:"action"`
		Target struct {
			Repository string `json:"repository"`
		} `json:"target"`
	} `json:"events"`
}

// concerns reports whether a notification may be about versions of the component. A registry also tells
// when something is read: the poll that follows from a notification must not lead to the next one.
func (h hook) concerns(body []byte) bool {
	if h.webhook != fleetv1alpha1.WebhookRegistry {
		return true
	}
	var read envelope
	if err := json.Unmarshal(body, &read); err != nil {
		return false
	}
	sum := sha256.Sum256([]byte(h.component))
	for _, event := range read.Events {
		at := event.Target.Repository
		if (event.Action == "push" || event.Action == "delete") && (strings.HasSuffix("/"+at, "/"+h.component) || strings.HasSuffix(at, hex.EncodeToString(sum[:]))) {
			return true
		}
	}
	return false
}
