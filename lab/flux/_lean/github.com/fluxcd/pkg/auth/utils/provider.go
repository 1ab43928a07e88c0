package utils

import (
	"fmt"

	"github.com/fluxcd/pkg/auth/generic"
)

// ProviderByName knows the provider that is no cloud.
func ProviderByName[T any](name string) (T, error) {
	var known any = generic.Provider{}
	provider, fits := known.(T)
	if name != generic.ProviderName || !fits {
		return *new(T), fmt.Errorf("this lean program has no provider %s", name)
	}
	return provider, nil
}
