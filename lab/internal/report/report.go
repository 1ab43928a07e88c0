// Package report holds the data that the lab prints as JSON.
package report

// Lab is one running lab.
type Lab struct {
	Name       string             `json:"name"`
	Directory  string             `json:"directory"`
	PID        int                `json:"pid"`
	Started    string             `json:"started"`
	Clusters   map[string]Cluster `json:"clusters"`
	Registry   *Registry          `json:"registry,omitempty"`
	Git        *Git               `json:"git,omitempty"`
	Components []Component        `json:"components"`
	// DiskBytes and MemoryBytes are measured when the report is made.
	DiskBytes   int64 `json:"diskBytes"`
	MemoryBytes int64 `json:"memoryBytes"`
}

// Cluster is how to reach a cluster.
type Cluster struct {
	Server string `json:"server"`
	// Kubeconfig authenticates the administrator with a token,
	// CertKubeconfig with a client certificate.
	Kubeconfig     string `json:"kubeconfig"`
	CertKubeconfig string `json:"certKubeconfig"`
	// CAFile is the authority that signed the server's certificate, and that the server trusts
	// about clients; CAKeyFile is its key.
	CAFile    string `json:"caFile"`
	CAKeyFile string `json:"caKeyFile"`
	Token     string `json:"token"`
	AuditLog  string `json:"auditLog"`
	// ReadySeconds is the time from the first process to a usable cluster.
	ReadySeconds float64 `json:"readySeconds"`
	DiskBytes    int64   `json:"diskBytes"`
	MemoryBytes  int64   `json:"memoryBytes"`
	Proxy        *Proxy  `json:"proxy,omitempty"`
}

// Proxy is a cluster's fault proxy.
type Proxy struct {
	Server         string `json:"server"`
	Kubeconfig     string `json:"kubeconfig"`
	CertKubeconfig string `json:"certKubeconfig"`
	Admin          string `json:"admin"`
	AdminToken     string `json:"adminToken"`
	DecisionLog    string `json:"decisionLog"`
}

// Registry is how to reach the OCI registry.
type Registry struct {
	Address  string `json:"address"`
	URL      string `json:"url"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	CAFile   string `json:"caFile,omitempty"`
}

// Git is how to reach the Git server.
type Git struct {
	HTTP           string `json:"http"`
	Username       string `json:"username,omitempty"`
	Password       string `json:"password,omitempty"`
	SSH            string `json:"ssh"`
	PrivateKeyFile string `json:"privateKeyFile"`
	KnownHostsFile string `json:"knownHostsFile"`
	// AuthorizedKeysFile has the keys that may log in, one in each line. A key that is added may
	// log in at once.
	AuthorizedKeysFile string `json:"authorizedKeysFile"`
}

// Repository is a Git repository of the lab.
type Repository struct {
	Name string `json:"name"`
	HTTP string `json:"http"`
	SSH  string `json:"ssh"`
}

// User is an additional user of a cluster.
type User struct {
	Name       string   `json:"name"`
	Groups     []string `json:"groups,omitempty"`
	Cluster    string   `json:"cluster"`
	Server     string   `json:"server"`
	Kubeconfig string   `json:"kubeconfig"`
	Token      string   `json:"token,omitempty"`
}

// Component is one process of a lab.
type Component struct {
	Name string `json:"name"`
	// State is "running", "stopped" (by kill or on purpose) or "exited".
	State       string `json:"state"`
	PID         int    `json:"pid,omitempty"`
	Exit        string `json:"exit,omitempty"`
	Restarts    int    `json:"restarts"`
	Log         string `json:"log"`
	MemoryBytes int64  `json:"memoryBytes"`
}
