package world

import (
	"bytes"
	"io"
	"net/http"

	"go.landscaper.dev/test/model/store"
)

// Spaces are the namespaces.
var Spaces = []string{"ns", "other"}

// SeedSpace is the namespace of the shoot on its seed.
const SeedSpace = "shoot--lab"

// Must is for what a user does by themselves.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// With returns annotations with another one.
func With(annotations map[string]string, key, value string) map[string]string {
	changed := map[string]string{key: value}
	for k, v := range annotations {
		if k != key {
			changed[k] = v
		}
	}
	return changed
}

// Answer returns the answer of a server to a request.
func Answer(request *http.Request, code int, said any) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": []string{"application/json"}}, Body: io.NopCloser(bytes.NewReader(store.Encoded(said))),
	}
}

// OfUsers is a label of what the controllers must not touch.
const OfUsers = "of-users"
