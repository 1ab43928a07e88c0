// Package published tries a release as it is published: the program that makes releases pushes one
// into a registry, and a cluster installs it from there as a stranger does, by the commands of
// docs/release.md. What runs in the pods is what is in the images; package podrunner of the lab
// says what its pods lack.
package published

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// release is the version that is published, and bare the same as charts have it.
const (
	release = "v0.0.1-published"
	bare    = "0.0.1-published"
)

// space is the namespace of the program in docs/release.md.
const space = "landscaper-system"

// waitLimit bounds every wait; a wait ends with its event, long before.
const waitLimit = 3 * time.Minute

var (
	started *lab.Lab
	cluster *lab.Cluster
	admin   client.WithWatch
	// registry is where images and charts are, and dist the folder with the files of the release.
	registry, dist string
	// releaseKey is the file of the key that signs.
	releaseKey string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	var err error
	started, err = lab.Start(ctx, lab.Options{Clusters: []string{"cluster", "edge"}, With: []string{"registry"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab:", err)
		return 1
	}
	defer func() {
		if err := started.Down(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "end the lab:", err)
		}
	}()
	if err := publish(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "publish a release:", err)
		return 1
	}
	return m.Run()
}

// publish makes a release of this repository for this platform, and pushes it.
func publish(ctx context.Context) error {
	cluster = started.Clusters["cluster"]
	registry, dist = started.Registry.Address+"/landscaper", filepath.Join(started.Directory, "dist")
	var err error
	if admin, err = landscape.Connect(cluster.Kubeconfig); err != nil {
		return err
	}
	root, err := lab.Root()
	if err != nil {
		return err
	}
	if releaseKey, err = writeKey(started.Directory); err != nil {
		return err
	}
	return makeRelease(ctx, root, dist, release, os.Stdout)
}

// makeRelease makes a release of the sources in a folder for this platform, and pushes it.
func makeRelease(ctx context.Context, source, out, version string, output io.Writer) error {
	root, err := lab.Root()
	if err != nil {
		return err
	}
	program := filepath.Join(root, "bin", "release")
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("%w: build it with make test-published", err)
	}
	command := exec.CommandContext(ctx, program, "-source", source, "-out", out, "-version", version, "-registry", registry,
		"-platforms", "linux/amd64", "-key", releaseKey, "-push", "-plain-http", "-allow-dirty")
	command.Stdout, command.Stderr = output, output
	return command.Run()
}

func writeKey(directory string) (string, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return "", err
	}
	file := filepath.Join(directory, "release.key")
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return file, os.WriteFile(file, text, 0o600)
}
