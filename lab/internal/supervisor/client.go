package supervisor

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"

	"go.landscaper.dev/lab/internal/instance"
	"go.landscaper.dev/lab/internal/report"
)

// Client sends commands to a lab's supervisor.
type Client struct {
	contact instance.Contact
	http    *http.Client
}

// NewClient returns a client for a supervisor.
func NewClient(contact instance.Contact) *Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(contact.CA))
	return &Client{contact: contact, http: &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
	}}
}

// Lab asks for the lab's present state.
func (c *Client) Lab(ctx context.Context) (report.Lab, error) {
	var lab report.Lab
	return lab, c.call(ctx, http.MethodGet, "/v1/lab", nil, &lab)
}

// Down asks the supervisor to end the lab; it returns before that is done.
func (c *Client) Down(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "/v1/down", struct{}{}, nil)
}

// Signal sends a signal to a component.
func (c *Client) Signal(ctx context.Context, request SignalRequest) (report.Component, error) {
	var component report.Component
	return component, c.call(ctx, http.MethodPost, "/v1/signal", request, &component)
}

// Restart restarts a component and returns when it is ready.
func (c *Client) Restart(ctx context.Context, request RestartRequest) (report.Component, error) {
	var component report.Component
	return component, c.call(ctx, http.MethodPost, "/v1/restart", request, &component)
}

// CreateRepository makes a Git repository.
func (c *Client) CreateRepository(ctx context.Context, request RepositoryRequest) (report.Repository, error) {
	var repository report.Repository
	return repository, c.call(ctx, http.MethodPost, "/v1/repositories", request, &repository)
}

// AddUser makes a user of a cluster.
func (c *Client) AddUser(ctx context.Context, cluster string, request UserRequest) (report.User, error) {
	var user report.User
	return user, c.call(ctx, http.MethodPost, "/v1/clusters/"+cluster+"/users", request, &user)
}

// RemoveUser makes the tokens of a user invalid.
func (c *Client) RemoveUser(ctx context.Context, cluster string, request RemoveUserRequest) error {
	return c.call(ctx, http.MethodDelete, "/v1/clusters/"+cluster+"/users", request, nil)
}

// Snapshot copies what is stored in a cluster.
func (c *Client) Snapshot(ctx context.Context, cluster string, request SnapshotRequest) (report.Component, error) {
	var component report.Component
	return component, c.call(ctx, http.MethodPost, "/v1/clusters/"+cluster+"/snapshot", request, &component)
}

// Restore brings a cluster back to a snapshot, and returns when it is ready.
func (c *Client) Restore(ctx context.Context, cluster string, request SnapshotRequest) (report.Component, error) {
	var component report.Component
	return component, c.call(ctx, http.MethodPost, "/v1/clusters/"+cluster+"/restore", request, &component)
}

// Proxy returns a cluster's fault proxy, which is started if need be.
func (c *Client) Proxy(ctx context.Context, cluster string) (report.Proxy, error) {
	var proxy report.Proxy
	return proxy, c.call(ctx, http.MethodPost, "/v1/clusters/"+cluster+"/proxy", struct{}{}, &proxy)
}

func (c *Client) call(ctx context.Context, method, path string, body, result any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.contact.URL+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.contact.Token)
	response, err := c.http.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("the lab is dead, its supervisor was killed; remove what is left of it with \"lab down\": %w", err)
	}
	if err != nil {
		return fmt.Errorf("talk to the lab's supervisor: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read the supervisor's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", strings.TrimSpace(string(answer)))
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("decode the supervisor's answer: %w", err)
	}
	return nil
}
