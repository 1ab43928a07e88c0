package webhook

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// secretLife is how long a Secret is not read again, also one that is missing: notifications of
	// strangers are no load for the API server.
	secretLife = 10 * time.Second
	// maxSecrets is how many are remembered.
	maxSecrets = 1000
	// shortest is how long a secret is at least: a shorter one could be guessed from one notification.
	shortest = 16

	defaultKey = "token"
)

// secrets remembers Secrets for a moment.
type secrets struct {
	mutex sync.Mutex
	known map[secretKey]secretEntry
}

type secretKey struct {
	types.NamespacedName
	key string
}

type secretEntry struct {
	value []byte
	err   error
	until time.Time
}

// of returns the value of a key of a Secret.
func (s *secrets) of(ctx context.Context, reader client.Reader, name types.NamespacedName, key string, now time.Time) ([]byte, error) {
	at := secretKey{name, cmp.Or(key, defaultKey)}
	s.mutex.Lock()
	defer s.mutex.Unlock() // one request at a time is enough for all strangers
	if known, exists := s.known[at]; exists && now.Before(known.until) {
		return known.value, known.err
	}
	value, err := read(ctx, reader, at)
	if s.known == nil || len(s.known) >= maxSecrets {
		s.known = map[secretKey]secretEntry{}
	}
	s.known[at] = secretEntry{value, err, now.Add(secretLife)}
	return value, err
}

func read(ctx context.Context, reader client.Reader, at secretKey) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, secretLife/2)
	defer cancel()
	secret := &corev1.Secret{}
	if err := reader.Get(ctx, at.NamespacedName, secret); err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", at.Name, err)
	}
	value := bytes.TrimSpace(secret.Data[at.key])
	if len(value) < shortest {
		return nil, fmt.Errorf("key %s of Secret %s has %d characters: write %d at least", at.key, at.Name, len(value), shortest)
	}
	return value, nil
}
