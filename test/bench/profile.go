package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// profiledSeconds is how much of a measurement the profile of the API server shows: its
// beginning.
const profiledSeconds = 10

// profile begins CPU profiles of the server and of the API server, if they were asked for,
// and returns what ends them.
func (b *bench) profile(ctx context.Context, name string) (end func() error, err error) {
	if b.record == "" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(b.record, 0o755); err != nil {
		return nil, err
	}
	if err := b.server.Signal(syscall.SIGUSR1); err != nil {
		return nil, err
	}
	written := make(chan error, 1)
	go func() { written <- b.profileAPIServer(ctx, filepath.Join(b.record, "apiserver-"+name+".pprof")) }()
	return func() error {
		err := errors.Join(b.server.Signal(syscall.SIGUSR1), <-written)
		return errors.Join(err, os.Rename(b.profileFile(), filepath.Join(b.record, "server-"+name+".pprof")))
	}, nil
}

// profileFile is where a server writes its profile.
func (b *bench) profileFile() string { return filepath.Join(b.lab.Directory, "server.pprof") }

func (b *bench) profileAPIServer(ctx context.Context, file string) error {
	config, err := clientcmd.BuildConfigFromFlags("", b.resource().Kubeconfig)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", config.Host, profiledSeconds), nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was read to its end
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, response.Body)
	return errors.Join(err, out.Close())
}
