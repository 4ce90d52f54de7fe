package declared

import (
	"fiord/engines"
	"fiord/job"
)

// network is: engines on sockets and remote block devices.
func network() []*engines.Driver {
	return []*engines.Driver{
		missing("net", "Sends and receives over sockets.",
			"network I/O is not built yet",
			job.Traits{Diskless: true, Pipe: true, Sync: true}, func() any { return &netOptions{} }),
		missing("netsplice", "Sends and receives over sockets with splice.",
			"network I/O is not built yet",
			job.Traits{Diskless: true, Pipe: true, Sync: true}, func() any { return &netOptions{} }),
		missing("http", "Gets and puts objects over HTTP: WebDAV, S3 or Swift.",
			"HTTP, S3 and Swift are not built yet",
			job.Traits{Diskless: true, Sync: true}, func() any { return &httpOptions{} }),
		external("rdma", "Sends, receives, reads and writes over RDMA.",
			"it needs librdmacm, which a static Go binary cannot use",
			job.Traits{Diskless: true, Pipe: true}, func() any { return &rdmaOptions{} }),
		external("nbd", "Uses a network block device server through libnbd.",
			"it needs libnbd, which a static Go binary cannot use",
			job.Traits{Diskless: true, NoExtend: true}, func() any { return &nbdOptions{} }),
		external("libiscsi", "Uses an iSCSI target through libiscsi.",
			"it needs libiscsi, which a static Go binary cannot use",
			job.Traits{Diskless: true, Sync: true}, func() any { return &libiscsiOptions{} }),
		external("nfs", "Uses an NFS server through libnfs.",
			"it needs libnfs, which a static Go binary cannot use",
			job.Traits{Diskless: true, NoExtend: true}, func() any { return &nfsOptions{} }),
	}
}

// netOptions are the options of net and netsplice.
type netOptions struct {
	Hostname   string `fio:"hostname" help:"Host name or address to connect to, or the multicast group for UDP"`
	Port       int    `fio:"port" min:"1" max:"65535" help:"TCP or UDP port number; clones use successive ports"`
	Protocol   string `fio:"protocol" alias:"proto" def:"tcp" vals:"tcp|tcpv6|udp|udpv6|unix|vsock" help:"Network protocol: tcp (default), udp, tcpv6, udpv6, unix or vsock"`
	Nodelay    bool   `fio:"nodelay" help:"Disable the Nagle algorithm on TCP connections"`
	Listen     bool   `fio:"listen" flag:"1" help:"Wait for an incoming connection rather than make one"`
	Pingpong   bool   `fio:"pingpong" flag:"1" help:"Have the receiver answer each message before the next is sent"`
	Interface  string `fio:"interface" help:"Local interface address for UDP multicast traffic"`
	TTL        int    `fio:"ttl" def:"1" min:"0" help:"Time-to-live of UDP multicast packets; default 1"`
	WindowSize int    `fio:"window_size" min:"0" help:"Socket buffer size in bytes; the system default applies if unset"`
	MSS        int    `fio:"mss" min:"0" help:"TCP maximum segment size in bytes; the system default applies if unset"`
}

// httpOptions are the options of http.
type httpOptions struct {
	HTTPS                      string `fio:"https" def:"off" vals:"off|on|insecure" help:"Use HTTPS: off (default), on, or insecure to skip certificate checks"`
	HTTPHost                   string `fio:"http_host" def:"localhost" help:"Host name of the server, or the bucket host for S3; default localhost"`
	HTTPUser                   string `fio:"http_user" help:"User name for HTTP authentication"`
	HTTPPass                   string `fio:"http_pass" help:"Password for HTTP authentication"`
	HTTPS3Key                  string `fio:"http_s3_key" def:"" help:"Secret key for S3 requests"`
	HTTPS3Keyid                string `fio:"http_s3_keyid" def:"" help:"Access key ID for S3 requests"`
	HTTPS3SecurityToken        string `fio:"http_s3_security_token" def:"" help:"Session token for S3 requests made with temporary credentials"`
	HTTPSwiftAuthToken         string `fio:"http_swift_auth_token" def:"" help:"Authentication token for Swift requests"`
	HTTPS3Region               string `fio:"http_s3_region" def:"us-east-1" help:"S3 region used when signing requests; default us-east-1"`
	HTTPS3SseCustomerKey       string `fio:"http_s3_sse_customer_key" def:"" help:"Customer-provided key for S3 server-side encryption"`
	HTTPS3SseCustomerAlgorithm string `fio:"http_s3_sse_customer_algorithm" def:"AES256" help:"Algorithm for S3 encryption with a customer key; default AES256"`
	HTTPS3StorageClass         string `fio:"http_s3_storage_class" def:"STANDARD" help:"Storage class assigned to S3 objects; default STANDARD"`
	HTTPMode                   string `fio:"http_mode" def:"webdav" vals:"webdav|s3|swift" help:"Access protocol to speak: webdav (default), swift or s3"`
	HTTPVerbose                int    `fio:"http_verbose" def:"0" help:"Amount of HTTP debug output; 0 (default) is silent"`
	HTTPObjectMode             string `fio:"http_object_mode" def:"block" vals:"block|range" help:"Use one object per block (block, default) or ranges within one object (range)"`
}

// rdmaOptions are the options of rdma.
type rdmaOptions struct {
	Hostname string `fio:"hostname" help:"Host name or address of the RDMA peer"`
	Bindname string `fio:"bindname" def:"" help:"Local address to bind for the RDMA connection"`
	Port     int    `fio:"port" min:"1" max:"65535" help:"Port number for the RDMA connection"`
	Verb     string `fio:"verb" alias:"proto" def:"write" vals:"write|read|send|recv" help:"RDMA operation to use: write (default), read, send or recv"`
}

// nbdOptions are the options of nbd.
type nbdOptions struct {
	URI string `fio:"uri" help:"NBD URI of the server and export to connect to"`
}

// libiscsiOptions are the options of libiscsi.
type libiscsiOptions struct {
	Initiator string `fio:"initiator" def:"iqn.2019-04.org.fio:fio" help:"Initiator name (IQN) presented to the iSCSI target; default iqn.2019-04.org.fio:fio"`
}

// nfsOptions are the options of nfs.
type nfsOptions struct {
	NfsURL string `fio:"nfs_url" help:"NFS URL of the server and export, in libnfs syntax"`
}
