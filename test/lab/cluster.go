package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Cluster is a cluster of a lab.
type Cluster struct {
	Name   string `json:"-"`
	Server string `json:"server"`
	// Kubeconfig is the administrator's, with a token; CertKubeconfig has a
	// client certificate.
	Kubeconfig     string  `json:"kubeconfig"`
	CertKubeconfig string  `json:"certKubeconfig"`
	CAFile         string  `json:"caFile"`
	CAKeyFile      string  `json:"caKeyFile"`
	Token          string  `json:"token"`
	AuditLog       string  `json:"auditLog"`
	ReadySeconds   float64 `json:"readySeconds"`
	DiskBytes      int64   `json:"diskBytes"`
	MemoryBytes    int64   `json:"memoryBytes"`

	lab *Lab
}

// UserOptions say what a user is and may do.
type UserOptions struct {
	Name   string
	Groups []string
	// Certificate chooses a client certificate instead of a token.
	Certificate bool
	// ThroughProxy lets the kubeconfig go through the cluster's fault proxy.
	ThroughProxy bool
	// ClusterRoles are bound to the user, in Namespace if that is set.
	ClusterRoles []string
	Namespace    string
	// ManifestFile is a file of roles and bindings to apply.
	ManifestFile string
}

// User is an additional user of a cluster.
type User struct {
	Name       string `json:"name"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
	Token      string `json:"token"`
}

// AddUser makes a user, who has its own name in the audit log.
func (c *Cluster) AddUser(ctx context.Context, options UserOptions) (User, error) {
	args := []string{"user", options.Name, "--cluster", c.Name}
	for _, group := range options.Groups {
		args = append(args, "--group", group)
	}
	for _, role := range options.ClusterRoles {
		args = append(args, "--cluster-role", role)
	}
	if options.Namespace != "" {
		args = append(args, "--namespace", options.Namespace)
	}
	if options.ManifestFile != "" {
		args = append(args, "--rbac", options.ManifestFile)
	}
	if options.Certificate {
		args = append(args, "--cert")
	}
	if options.ThroughProxy {
		args = append(args, "--through-proxy")
	}
	var user User
	return user, c.lab.runJSON(ctx, nil, &user, args...)
}

// RemoveUser makes the tokens of a user that AddUser made invalid. The API server
// remembers a token that it has seen for up to ten seconds.
func (c *Cluster) RemoveUser(ctx context.Context, name string) error {
	_, err := c.lab.run(ctx, nil, "user", name, "--cluster", c.Name, "--remove")
	return err
}

// ProxyKubeconfig is the administrator's kubeconfig that goes through the
// cluster's fault proxy. The proxy starts with the first use.
func (c *Cluster) ProxyKubeconfig(ctx context.Context) (string, error) {
	output, err := c.lab.run(ctx, nil, "kubeconfig", c.Name, "--through-proxy")
	return strings.TrimSpace(string(output)), err
}

// Faults are the rules of a fault proxy and the seed of its decisions.
type Faults struct {
	Seed  uint64 `json:"seed"`
	Rules []Rule `json:"rules"`
}

// Rule says which requests fail and how; "lab fault add --help" explains it.
type Rule struct {
	Name       string   `json:"name"`
	Verbs      []string `json:"verbs,omitempty"`
	Resources  []string `json:"resources,omitempty"`
	Namespaces []string `json:"namespaces,omitempty"`
	Names      []string `json:"names,omitempty"`
	Share      float64  `json:"share"`
	Times      int      `json:"times,omitempty"`
	// Action is status, delay, cut, lose or stall.
	Action string `json:"action"`
	Status int    `json:"status,omitempty"`
	// Delay is written as in 1.5s.
	Delay string `json:"delay,omitempty"`
}

// Decision is what a fault proxy decided about a request that a rule matched.
type Decision struct {
	Rule    string `json:"rule"`
	Action  string `json:"action"`
	Nth     int    `json:"nth"`
	Hit     bool   `json:"hit"`
	Request struct {
		Verb        string `json:"verb"`
		Group       string `json:"group"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Path        string `json:"path"`
	} `json:"request"`
}

// SetFaults replaces the rules of the cluster's fault proxy. No rules, or another
// seed than before, start all counts anew.
func (c *Cluster) SetFaults(ctx context.Context, faults Faults) error {
	if faults.Rules == nil {
		faults.Rules = []Rule{}
	}
	encoded, err := json.Marshal(faults)
	if err != nil {
		return fmt.Errorf("encode the rules: %w", err)
	}
	_, err = c.lab.run(ctx, bytes.NewReader(encoded), "fault", "set", c.Name, "-")
	return err
}

// CutConnections closes all connections through the fault proxy.
func (c *Cluster) CutConnections(ctx context.Context) error {
	_, err := c.lab.run(ctx, nil, "fault", "cut", c.Name)
	return err
}

// Decisions are all that the fault proxy has decided.
func (c *Cluster) Decisions(ctx context.Context) ([]Decision, error) {
	output, err := c.lab.run(ctx, nil, "fault", "log", c.Name)
	if err != nil {
		return nil, err
	}
	return decodeLines[Decision](output)
}

// Request is a request in an API server's audit log.
type Request struct {
	User      string `json:"user"`
	UserAgent string `json:"userAgent"`
	Verb      string `json:"verb"`
	// Resource is written as in deployments.apps/status.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Path      string `json:"path"`
	Status    int    `json:"status"`
	// DryRun is set if nothing was stored.
	DryRun bool `json:"dryRun"`
}

// Mark is a point in time, as a place in the audit log.
type Mark int64

// Mark returns the mark of now. Every request whose answer a client has read to its end is before
// it.
func (c *Cluster) Mark(ctx context.Context) (Mark, error) {
	output, err := c.lab.run(ctx, nil, "audit", c.Name, "--mark")
	if err != nil {
		return 0, err
	}
	mark, err := strconv.ParseInt(strings.TrimSpace(string(output)), 10, 64)
	return Mark(mark), err
}

// Requests returns the requests of a user since the mark, or those of all users.
// A watch counts when it starts, any other request when it ends.
func (c *Cluster) Requests(ctx context.Context, since Mark, user string) ([]Request, error) {
	output, err := c.lab.run(ctx, nil, "audit", c.Name, "--each", "--since", strconv.FormatInt(int64(since), 10), "--user", user)
	if err != nil {
		return nil, err
	}
	return decodeLines[Request](output)
}

func decodeLines[Line any](content []byte) ([]Line, error) {
	var lines []Line
	decoder := json.NewDecoder(bytes.NewReader(content))
	for {
		var line Line
		err := decoder.Decode(&line)
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode a line: %w", err)
		}
		lines = append(lines, line)
	}
}
