package sshkey

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/controller/shootflux/giturl"
)

const (
	// scanTimeout bounds all connections of a scan.
	scanTimeout = 20 * time.Second
	// atOnce is the number of concurrent scans. Hosts that do not answer must not block the
	// workers.
	atOnce = 2
	// turn is how long a scan waits for its turn.
	turn = time.Second
)

// algorithms are asked for one after another, since a server shows one key at a time. Older or
// newer clients may support only one of them.
var algorithms = [][]string{
	{ssh.KeyAlgoED25519},
	{ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521},
	{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256},
}

// Scan returns a scanner that connects only to the host and the port of the repository, if the
// policy allows it. It trusts the first answer.
func Scan(policy egress.Policy) Scanner {
	slots := make(chan struct{}, atOnce)
	return func(ctx context.Context, repository *giturl.URL) (string, error) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-time.After(turn):
			return "", fmt.Errorf("ask %s for host keys: other hosts are asked at the moment; it is tried again, and knownHosts needs no asking", repository.Address())
		}
		ctx, cancel := context.WithTimeout(ctx, scanTimeout)
		defer cancel()
		if err := policy.CheckHost(repository.Host); err != nil {
			return "", fmt.Errorf("ask for host keys: %w", err)
		}
		var lines strings.Builder
		for _, wanted := range algorithms {
			key, err := hostKey(ctx, policy, repository.Address(), wanted)
			if err != nil {
				return "", err
			}
			if key != nil {
				lines.WriteString(knownhosts.Line([]string{knownhosts.Normalize(repository.Address())}, key) + "\n")
			}
		}
		if lines.Len() == 0 {
			return "", noAnswer(repository.Address())
		}
		return lines.String(), nil
	}
}

// errSeen ends a connection when its host key was seen, before the authentication.
var errSeen = errors.New("seen")

// hostKey returns nil if the server has no key of this kind. No error repeats what the server says
// or what its name was resolved to, nor distinguishes a closed port from a silent one: users must
// not explore the network of the seed with it.
func hostKey(ctx context.Context, policy egress.Policy, address string, wanted []string) (ssh.PublicKey, error) {
	connection, err := policy.DialContext(ctx, "tcp", address)
	var refused *egress.Refused
	switch {
	case errors.As(err, &refused):
		return nil, fmt.Errorf("ask for host keys: %w", refused)
	case err != nil:
		return nil, noAnswer(address)
	}
	defer connection.Close() //nolint:errcheck // no data can be lost
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	var seen ssh.PublicKey
	_, _, _, err = ssh.NewClientConn(connection, address, &ssh.ClientConfig{
		HostKeyAlgorithms: wanted,
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			seen = key
			return errSeen
		},
	})
	if seen == nil && ctx.Err() != nil {
		return nil, noAnswer(address)
	}
	if err == nil {
		return nil, fmt.Errorf("ask %s for host keys: it let us in without a key", address)
	}
	return seen, nil
}

func noAnswer(address string) error {
	return fmt.Errorf("ask %s for host keys: it does not answer as a server for SSH: check the address, or set knownHosts", address)
}
