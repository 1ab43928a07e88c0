package supervisor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.landscaper.dev/lab/internal/kube"
	"go.landscaper.dev/lab/internal/objects"
	"go.landscaper.dev/lab/internal/process"
	"go.landscaper.dev/lab/internal/report"
	"go.landscaper.dev/lab/internal/tools"
)

// cluster is a cluster and what the supervisor knows about it.
type cluster struct {
	*kube.Cluster
	client  *http.Client
	objects *objects.Objects
	ready   time.Duration
	users   users

	starting sync.Mutex // held while the proxy starts
	proxy    *report.Proxy
}

// upCluster starts a cluster's control plane and returns when it is usable.
func (s *Supervisor) upCluster(ctx context.Context, name string) error {
	started := time.Now()
	c, err := s.newCluster(name)
	if err != nil {
		return err
	}
	if err := s.connectIssuer(c); err != nil {
		return err
	}
	specs, err := s.controlPlane(ctx, c)
	if err != nil {
		return err
	}
	if err := s.bringUp(ctx, specs...); err != nil {
		return fmt.Errorf("bring up cluster %s: %w", name, err)
	}
	if name == s.config.Issuer {
		if err := c.objects.Apply(ctx, []byte(kube.IssuerManifest)); err != nil {
			return fmt.Errorf("let others trust the ServiceAccounts of cluster %s: %w", name, err)
		}
	}
	if err := s.runPods(ctx, c); err != nil {
		return err
	}
	if slices.Contains(s.config.Kwok, name) {
		if err := s.upKwok(ctx, c); err != nil {
			return err
		}
	}
	if slices.Contains(s.config.Flux, name) {
		if err := s.upFlux(ctx, c); err != nil {
			return err
		}
	}
	c.ready = time.Since(started)
	s.log.Info("cluster is ready", "cluster", name, "seconds", c.ready.Seconds())
	s.mu.Lock()
	s.clusters[name] = c
	s.mu.Unlock()
	return nil
}

// connectIssuer makes a cluster the issuer of the lab, or lets it trust that.
func (s *Supervisor) connectIssuer(c *cluster) error {
	switch s.config.Issuer {
	case "":
		return nil
	case c.Name:
		c.Issue()
		return nil
	}
	issuer, err := s.cluster(s.config.Issuer)
	if err != nil {
		return err
	}
	return c.Trust(issuer.Cluster)
}

func (s *Supervisor) newCluster(name string) (*cluster, error) {
	described, err := kube.New(name, s.instance.Path("clusters", name), &s.ports)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(described.Authority().Certificate())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	own, err := objects.New(described.KubeconfigOf(kube.SupervisorUser))
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	return &cluster{
		Cluster: described, objects: own,
		client: &http.Client{Transport: transport, Timeout: 30 * time.Second},
	}, nil
}

// controlPlane describes the processes of a cluster in the order in which they need
// each other.
func (s *Supervisor) controlPlane(ctx context.Context, c *cluster) ([]Spec, error) {
	built, err := s.workshop.Ensure(ctx, tools.ControlPlane)
	if err != nil {
		return nil, err
	}
	webhook, err := s.writeTokenWebhook(c)
	if err != nil {
		return nil, err
	}
	program := func(component, program string, args []string, ready func(context.Context) error) Spec {
		name := c.Name + "/" + component
		return Spec{Name: name, Ready: ready, Command: process.Command{
			Program: built.Program(program), Args: args, Dir: c.Directory,
			Env: os.Environ(), Log: s.instance.Log(name),
		}}
	}
	return []Spec{
		program("etcd", "etcd", c.EtcdArgs(), accepts(c.EtcdAddress())),
		program("apiserver", "kube-apiserver", c.APIServerArgs(webhook, s.config.Profiling, s.config.Kubernetes), c.apiServerReady),
		program("controller-manager", "kube-controller-manager", c.ControllerManagerArgs(s.config.Kubernetes), c.controllersReady),
	}, nil
}

func (c *cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.Directory}, elements...)...)
}

func (c *cluster) apiServerReady(ctx context.Context) error { return c.get(ctx, "/readyz") }

// controllersReady uses the sign that pods can be created: the service account
// that they run under by default exists.
func (c *cluster) controllersReady(ctx context.Context) error {
	return c.get(ctx, "/api/v1/namespaces/default/serviceaccounts/default")
}

func (c *cluster) get(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Server()+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token(kube.SupervisorUser))
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s: %s", path, response.Status, body)
	}
	return nil
}

func (s *Supervisor) cluster(name string) (*cluster, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, found := s.clusters[name]; found {
		return c, nil
	}
	return nil, notFound{fmt.Errorf("lab %s has no cluster %q; it has %q", s.instance.Name, name, s.config.Clusters)}
}
