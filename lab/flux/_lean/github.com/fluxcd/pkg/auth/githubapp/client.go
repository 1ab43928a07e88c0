package githubapp

import (
	"context"
	"crypto/tls"
	"errors"
	"net/url"

	"github.com/fluxcd/pkg/cache"
)

// KeyAppID is the key of a Secret that the API of Flux documents.
const KeyAppID = "githubAppID"

type OptFunc struct{}

func WithAppData(map[string][]byte) OptFunc                               { return OptFunc{} }
func WithProxyURL(*url.URL) OptFunc                                       { return OptFunc{} }
func WithTLSConfig(*tls.Config) OptFunc                                   { return OptFunc{} }
func WithCache(*cache.TokenCache, string, string, string, string) OptFunc { return OptFunc{} }

func GetCredentials(context.Context, ...OptFunc) (username, password string, err error) {
	return "", "", errors.New("this lean source-controller is no GitHub App")
}
