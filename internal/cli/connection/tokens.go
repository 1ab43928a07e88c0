package connection

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	authenticationv1 "k8s.io/api/authentication/v1"

	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/cluster/login"
)

const tokensFlag = "request-tokens"

// TokenFlag says whether a command may request tokens of ServiceAccounts, with which Targets with
// selfConfig or oidcConfig are reached. A tenant chooses the account, and for oidcConfig the server
// that sees the token; the right to request it is the user's.
type TokenFlag struct{ Allowed bool }

// Add adds the flag to a command.
func (f *TokenFlag) Add(command *cobra.Command) {
	command.Flags().BoolVar(&f.Allowed, tokensFlag, false, "request tokens of the ServiceAccounts that Targets with selfConfig or oidcConfig name, and send them to the clusters of these Targets")
}

// Tokens requests tokens with the rights of the user, if the user has said so.
func (f *TokenFlag) Tokens(on *Connection) login.TokenRequester {
	if f.Allowed {
		return login.TokensFrom(on.Client)
	}
	return func(context.Context, string, string, *authenticationv1.TokenRequest) error {
		return clustererror.NoToken{
			Cause:  errors.New("this command does so only when it is told to"),
			Remedy: "allow it with --" + tokensFlag + " if you trust the authors of the Targets",
		}
	}
}
