package cluster

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/cluster/login"
)

// NewPoolFor returns an empty pool for the controllers of a manager. Its connections lead
// where the policy allows.
func NewPoolFor(mgr ctrl.Manager, userAgent string, policy egress.Policy) *Pool {
	return NewPool(OptionsFor(mgr, userAgent, policy))
}

// OptionsFor are the options of such a pool.
func OptionsFor(mgr ctrl.Manager, userAgent string, policy egress.Policy) PoolOptions {
	return PoolOptions{
		Secrets: mgr.GetAPIReader(),
		// A client whose options say that Secrets are not cached asks the API server for their
		// metadata, too.
		SecretVersions: mgr.GetCache(),
		Tokens:         login.TokensFrom(mgr.GetClient()),
		Self:           mgr.GetConfig(),
		UserAgent:      userAgent,
		Egress:         policy,
	}
}
